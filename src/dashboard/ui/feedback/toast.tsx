import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { execute, toApiFailure } from '../../data/client/client.ts';
import type { Operation } from '../../data/client/operation.ts';
import { Button } from '../button.tsx';
import { topDialog } from './use-modal.ts';

/** How long a toast is shown. With an undo button it is twice as long. */
const SHOWN_MS = 6000;
const MAX_TOASTS = 4;

interface ToastMessage {
  id: number;
  text: string;
  undo?: () => void;
  link?: ToastLink;
}

/** A page that has more about it. */
export interface ToastLink {
  title: string;
  href: string;
}

const toasts = signal<readonly ToastMessage[]>([]);
const announcement = signal('');
let lastId = 0;
let announcementTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows a toast. With `undo` it has a button that calls it; with `link`, one to another page. */
export function toast(text: string, { undo, link }: { undo?: () => void; link?: ToastLink } = {}): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { id, text, undo, link }].slice(-MAX_TOASTS);
  setTimeout(() => close(id), undo || link ? SHOWN_MS * 2 : SHOWN_MS);
}

/** Announces a text to screen readers only. */
export function announce(text: string): void {
  announcement.value = text;
  // Without this, each dialog that opens later would announce the text again.
  clearTimeout(announcementTimer);
  announcementTimer = setTimeout(() => {
    announcement.value = '';
  }, SHOWN_MS);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((message) => message.id !== id);
}

/** Renders the toasts: once in the page and once in each dialog. Only the topmost of them shows any. */
export function Toasts({ within }: { within?: RefObject<HTMLDialogElement | null> }) {
  // Both live regions exist before they have a text, because screen readers announce only changes of existing ones.
  const isTopmost = topDialog.value === within?.current;
  return (
    <>
      <div class="visually-hidden" role="status" aria-live="polite">
        {isTopmost && announcement.value}
      </div>
      <div class="toasts" role="status" aria-live="polite">
        {(isTopmost ? toasts.value : []).map(({ id, text, undo, link }) => (
          <div key={id} class="toast">
            <span>{text}</span>
            {link && <a href={link.href}>{link.title}</a>}
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
            <Button variant="plain" label="Close this message" onClick={() => close(id)}>
              ✕
            </Button>
          </div>
        ))}
      </div>
    </>
  );
}

/** Shows a toast whose undo button executes another mutation. */
export function toastWithUndo<Result, Variables>(
  text: string,
  operation: Operation<Result, Variables>,
  variables: Variables,
): void {
  const undo = () =>
    void execute(operation, variables).then(
      () => toast('It is as it was before.'),
      (error) => toast(`It couldn’t be undone. ${toApiFailure(error).message}`),
    );
  toast(text, { undo });
}
