import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Opens a dialog over the page as long as it is drawn; afterwards the focus is where it was before. */
export function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [dialog]);
}
