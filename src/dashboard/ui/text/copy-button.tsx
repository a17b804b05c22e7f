import { useState } from 'preact/hooks';
import { announce } from '../feedback/toast.tsx';

export interface CopyProps {
  text: string;
  /** What is copied, for a screen reader: `the address`. */
  what?: string;
  /** Shows the text beside the button. */
  isShown?: boolean;
}

const SHOWN_MS = 2000;

/** A button that copies a text, with the text itself unless it is said otherwise. */
export function Copy({ text, what = 'the text', isShown = true }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    await write(text);
    setCopied(true);
    announce(`Copied ${what}.`);
    setTimeout(() => setCopied(false), SHOWN_MS);
  }
  return (
    <span class="copy">
      {isShown && <code>{text}</code>}
      <button
        type="button"
        class="button plain"
        aria-label={isCopied ? `Copied ${what}` : `Copy ${what}`}
        onClick={() => void copy()}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}

/** Over plain HTTP from elsewhere than loopback browsers have no clipboard; a selection can be copied everywhere. */
async function write(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    const place = document.querySelector('dialog[open]') ?? document.body;
    place.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}
