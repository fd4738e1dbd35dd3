// Code in a message: with its language, a button to copy it, and colours once it is finished.

import type { JSX } from 'preact';
import { t } from '../../i18n';
import { languageOf } from '../../text/markdown/fence';
import type { OpenCode } from '../../text/markdown/lexer';
import { languageByWord } from '../../text/code/language';
import { pieces } from '../../text/code/tokens';
import { Copy } from '../../ui';
import { skipUnchanged } from '../skip_unchanged';
import { Pieces, VisibleText } from '../visible_text';
import { useTokens } from '../use_tokens';

/** Finished code. While the block around it is being written, it stays plain. */
export function CodeBlock({ text, info, open }: { text: string; info: string; open: boolean }): JSX.Element {
  const language = languageOf(info);
  return (
    <Frame language={language} copy={text}>
      {open ? <VisibleText text={text} /> : <Coloured text={text} language={languageByWord(language)} />}
    </Frame>
  );
}

function Coloured({ text, language }: { text: string; language: string }): JSX.Element {
  const tokens = useTokens(text, language);
  if (tokens === null) return <VisibleText text={text} />;
  return <>{text.split('\n').map((line, index) => <span key={index}>{index > 0 && '\n'}<Pieces pieces={pieces(line, tokens[index])} /></span>)}</>;
}

/** Code that is being written: what is there already is not drawn again. */
export function OpenCodeBlock({ token }: { token: OpenCode }): JSX.Element {
  return (
    <Frame language={languageOf(token.info)} copy={() => token.pieces.join('') + token.tail}>
      {token.pieces.slice(0, token.pieceCount).map((piece, index) => <FinishedPiece key={index} text={piece} />)}
      <VisibleText text={token.tail} />
    </Frame>
  );
}

const FinishedPiece = skipUnchanged(({ text }: { text: string }) => <span><VisibleText text={text} /></span>);

function Frame({ language, copy, children }: { language: string; copy: string | (() => string); children: JSX.Element | (JSX.Element | JSX.Element[])[] }): JSX.Element {
  return (
    <div class="content-code-block" dir="ltr">
      <div class="content-code-head"><span>{language}</span><Copy text={copy} label={t('content.copyCode')} /></div>
      <pre tabIndex={0}><code>{children}</code></pre>
    </div>
  );
}
