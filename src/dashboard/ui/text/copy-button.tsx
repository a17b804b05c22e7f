import { useState } from 'preact/hooks';
import { announce } from '../feedback/toast.tsx';

export interface CopyButtonProps {
  text: string;
  /** What is copied, for a screen reader: `the address`. */
  label?: string;
  /** Shows the text beside the button. */
  showsText?: boolean;
}

const FEEDBACK_MS = 2000;

/** A button that copies a text, with the text itself unless it is said otherwise. */
export function CopyButton({ text, label = 'the text', showsText = true }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    await writeToClipboard(text);
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
        onClick={() => void copy()}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}

/** Over plain HTTP from elsewhere than loopback browsers have no clipboard; a selection can be copied everywhere. */
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
