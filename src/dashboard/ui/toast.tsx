import { signal } from '@preact/signals';
import { Button } from './button.tsx';

/** How long one is shown; as long again when it can be undone. */
const SHOWN_MS = 6000;
const MOST = 4;

interface Toasted {
  id: number;
  text: string;
  undo?: () => void;
}

const toasts = signal<readonly Toasted[]>([]);
const said = signal('');
let lastId = 0;

/** Tells what has happened. With `undo` it has a button that takes it back. */
export function toast(text: string, { undo }: { undo?: () => void } = {}): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { id, text, undo }].slice(-MOST);
  setTimeout(() => close(id), undo ? SHOWN_MS * 2 : SHOWN_MS);
}

/** Tells those who can't see it. */
export function announce(text: string): void {
  said.value = text;
}

function close(id: number): void {
  toasts.value = toasts.value.filter((toasted) => toasted.id !== id);
}

/** Where toasts turn up: once in the whole page. */
export function Toasts() {
  return (
    <>
      <div class="unseen" role="status" aria-live="polite">
        {said.value}
      </div>
      <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map(({ id, text, undo }) => (
          <div key={id} class="toast">
            <span>{text}</span>
            {undo && (
              <Button
                onClick={() => {
                  close(id);
                  undo();
                }}
              >
                Undo
              </Button>
            )}
            <Button look="plain" label="Close this message" onClick={() => close(id)}>
              ✕
            </Button>
          </div>
        ))}
      </div>
    </>
  );
}
