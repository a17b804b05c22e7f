import { useState } from 'preact/hooks';
import { announce } from '../feedback/toast.tsx';

export interface CopyButtonProps {
  text: string;
  /** What is copied, for the accessible name: `the address`. */
  label?: string;
  /** Shows the text beside the button. */
  showsText?: boolean;
}

/** An event that bubbles from a button once it has copied a text, which is its detail. */
export const TEXT_COPIED = 'text-copied';

const FEEDBACK_MS = 2000;

/** A button that copies a text. */
export function CopyButton({ text, label = 'the text', showsText = true }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  async function copy(button: Element) {
    await writeToClipboard(text);
    button.dispatchEvent(new CustomEvent(TEXT_COPIED, { bubbles: true, detail: text }));
    setCopied(true);
    announce(`Copied ${label}.`);
    setTimeout(() => setCopied(false), FEEDBACK_MS);
  }
  return (
    <span class="copy">
      {showsText && <code>{text}</code>}
      <button
        type="button"
        class="button plain"
        aria-label={isCopied ? `Copied ${label}` : `Copy ${label}`}
        onClick={({ currentTarget }) => void copy(currentTarget)}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}

/** Pages over plain HTTP from another host have no clipboard API; copying a selection works everywhere. */
async function writeToClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    const parent = document.querySelector('dialog[open]') ?? document.body;
    parent.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}
