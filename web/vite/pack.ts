/**
 * What happens to the page after Vite has written it: the service worker is built beside it, every text file gets a compressed
 * copy in br and gzip, and the initial load is weighed.
 *
 * Rule 1: the hub never compresses the page itself; it only chooses among the files that are here.
 * Rule 2: a build whose initial load is over the limit fails.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin, type Rollup } from 'vite';

const INITIAL_LIMIT = 80 * 1024;
const TEXT = /\.(js|css|html|svg|json|webmanifest|txt)$/;

/** The initial load in bytes, by file, as gzip sends it. */
export interface Weight {
  limit: number;
  total: number;
  files: Record<string, number>;
}

export function pack(): Plugin {
  let root = '';
  let outDir = '';
  return {
    name: 'trunkline-pack',
    apply: 'build',
    configResolved(config) {
      root = config.root;
      outDir = resolve(config.root, config.build.outDir);
    },
    async writeBundle(_options, bundle) {
      const first = initialFiles(bundle);
      if (existsSync(join(root, 'src/sw.ts'))) await buildServiceWorker(root, outDir, bundle, first);
      compressAll(outDir);
      weigh(outDir, first);
    },
  };
}

/** index.html, the entry, and all that it imports before it can run. */
function initialFiles(bundle: Rollup.OutputBundle): string[] {
  const found = new Set<string>(['index.html']);
  const add = (name: string): void => {
    const chunk = bundle[name];
    if (found.has(name) || chunk?.type !== 'chunk') return;
    found.add(name);
    chunk.viteMetadata?.importedCss.forEach((css) => found.add(css));
    chunk.imports.forEach(add);
  };
  for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk' && chunk.isEntry) add(chunk.fileName);
  return [...found];
}

async function buildServiceWorker(root: string, outDir: string, bundle: Rollup.OutputBundle, first: string[]): Promise<void> {
  const files = Object.keys(bundle).filter((name) => name !== 'index.html').map((name) => `/${name}`).sort();
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: {
      __SHELL__: JSON.stringify(['/', ...first.filter((name) => name !== 'index.html').map((name) => `/${name}`)]),
      __ASSETS__: JSON.stringify(files),
    },
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2022',
      rollupOptions: {
        input: join(root, 'src/sw.ts'),
        output: { entryFileNames: 'sw.js', format: 'es', inlineDynamicImports: true },
      },
    },
  });
}

function compressAll(outDir: string): void {
  for (const path of filesIn(outDir)) {
    if (/\.(br|gz)$/.test(path)) rmSync(path);
  }
  for (const path of filesIn(outDir).filter((name) => TEXT.test(name))) {
    const body = readFileSync(path);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
    writeIfSmaller(`${path}.br`, brotliCompressSync(body, { params }), body);
    writeIfSmaller(`${path}.gz`, gzipSync(body, { level: 9 }), body);
  }
}

function writeIfSmaller(path: string, packed: Buffer, body: Buffer): void {
  if (packed.length < body.length) writeFileSync(path, packed);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf-8' }).map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
}

function weigh(outDir: string, first: string[]): void {
  const sizes = first.map((name) => [name, gzipSync(readFileSync(join(outDir, name)), { level: 9 }).length] as const);
  const weight: Weight = {
    limit: INITIAL_LIMIT,
    total: sizes.reduce((sum, [, size]) => sum + size, 0),
    files: Object.fromEntries(sizes),
  };
  writeFileSync(join(outDir, 'weight.json'), `${JSON.stringify(weight, null, 1)}\n`);
  const told = `initial load: ${(weight.total / 1024).toFixed(1)} KB gzip of ${INITIAL_LIMIT / 1024} KB (${relative('.', outDir)})`;
  if (weight.total > INITIAL_LIMIT) throw new Error(`${told}: too much`);
  console.log(told);
}
