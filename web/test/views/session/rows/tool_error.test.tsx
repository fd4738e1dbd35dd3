import { render } from 'preact';
import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';
import { ToolError, withoutOutput } from '../../../../src/views/session/rows/tool_error';

async function drawn(message: string, output: string): Promise<HTMLElement> {
  const root = document.createElement('div');
  await act(() => render(<ToolError message={message} output={output} />, root));
  return root;
}

describe('why a call failed', () => {
  it('is not said a second time where the output says it', async () => {
    expect((await drawn('\x1b[31mno such file\x1b[0m\n', 'a\nno such file\n')).textContent).toBe('');
    expect(withoutOutput('Exit code 1\nno such file', 'no such file')).toBe('Exit code 1');
    expect(withoutOutput('refused', 'no such file')).toBe('refused');
  });
  it('shows controls as a terminal does', async () => {
    expect((await drawn('10 %\r100 %\x1b[0m done', '')).textContent).toBe('100 % done');
  });
  it('is bounded', async () => {
    const root = await drawn('x\r\u202e'.repeat(20_000) + 'y\n'.repeat(9_000), '');
    expect(root.querySelectorAll('*').length).toBeLessThan(1_100);
    expect(root.querySelector('button')).not.toBeNull();
  });
});
