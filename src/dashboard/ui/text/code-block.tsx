import { CopyButton } from './copy-button.tsx';

export interface CodeBlockProps {
  code: string;
  /** What the code is, for the accessible name of the button: `the command`. */
  label?: string;
}

/** Code to read and to copy. */
export function CodeBlock({ code, label = 'the lines' }: CodeBlockProps) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keyboard, too */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} label={label} showsText={false} />
    </div>
  );
}
