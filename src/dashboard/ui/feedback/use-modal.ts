import { computed, signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

const opened = signal<readonly HTMLDialogElement[]>([]);

/** The dialog that lies over all others: what is outside of it can neither be pressed nor heard. */
export const topDialog = computed(() => opened.value.at(-1));

/** Opens a dialog over the page as long as it is drawn; afterwards the focus is where it was before. */
export function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const before = document.activeElement;
    element.showModal();
    opened.value = [...opened.value, element];
    return () => {
      opened.value = opened.value.filter((other) => other !== element);
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [dialog]);
}
