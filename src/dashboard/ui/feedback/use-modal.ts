import { computed, signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

const openDialogs = signal<readonly HTMLDialogElement[]>([]);

/** The topmost dialog. Everything outside it is inert. */
export const topDialog = computed(() => openDialogs.value.at(-1));

/**
 * Opens a dialog as a modal while it is mounted, and restores the focus afterwards. It is open before the next key is pressed: what a
 * user types right after the key that opens it belongs to it.
 */
export function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const previousFocus = document.activeElement;
    element.showModal();
    openDialogs.value = [...openDialogs.value, element];
    return () => {
      openDialogs.value = openDialogs.value.filter((other) => other !== element);
      if (previousFocus instanceof HTMLElement && previousFocus.isConnected)
        previousFocus.focus({ preventScroll: true });
    };
  }, [dialog]);
}
