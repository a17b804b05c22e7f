import { Copy } from './copy-button.tsx';

export interface CodeBlockProps {
  code: string;
  /** What it is, for whoever copies it: `the command`. */
  what?: string;
}

/** Lines to read and to copy. */
export function CodeBlock({ code, what = 'the lines' }: CodeBlockProps) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keyboard, too */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <Copy text={code} what={what} isShown={false} />
    </div>
  );
}
