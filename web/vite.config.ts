/** How the page is built: into the Python package, under names that carry a hash, with nothing inline. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { pack } from './vite/pack';

const root = fileURLToPath(new URL('.', import.meta.url));
const outDir = fileURLToPath(new URL('../src/trunkline/server/static/page', import.meta.url));

export default defineConfig({
  root,
  base: '/',
  plugins: [pack()],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  worker: { format: 'es' },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  test: {
    // What needs no document says so in its first line: to make one costs more than most tests.
    environment: 'happy-dom',
    // A document for each file (what one leaves behind in it made another fail), of a library that each thread loads once.
    pool: 'vmThreads',
    // It runs beside other tests and gives way to them.
    testTimeout: 120_000,
    include: ['test/**/*.test.{ts,tsx}'],
  },
});
