import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Toasts } from '../feedback/toast.tsx';
import { useModal } from '../feedback/use-modal.ts';
import { askBeforeLeaving } from '../unsaved/unsaved-work.ts';

export interface DialogProps {
  title: string;
  /**
   * The user closed it by Escape or the close button, and agreed to lose what is unsaved in it: the caller has to
   * unmount it.
   */
  onClose: () => void;
  children: ComponentChildren;
  /** A wide dialog, for example for an editor. */
  isWide?: boolean;
}

/** A modal dialog. It is open while it is mounted. */
export function Dialog({ title, onClose, children, isWide }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useModal(dialog);
  const close = () => askBeforeLeaving(onClose, dialog.current);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={() => {
        // Browsers close a dialog without `cancel` when Escape is pressed again and nothing was done in between.
        dialog.current?.showModal();
        close();
      }}
    >
      <header class="dialog-header">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button plain" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      <div class="dialog-body">{children}</div>
      <Toasts within={dialog} />
    </dialog>
  );
}
