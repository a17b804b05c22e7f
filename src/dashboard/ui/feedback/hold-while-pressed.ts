// No message moves a button between press and release: while a button or link is pressed, nothing is rendered anew.

import { options } from 'preact';

/** A select box is none: its list takes the release, and the page does not hear of it. */
const PRESSABLE = 'button, a, label, summary, [role=option], input:is([type=checkbox], [type=radio])';

let isPressed = false;
let heldRender: (() => void) | undefined;

/** Starts to hold. What was held is rendered right after the click, which gets the page as the user saw it. */
export function holdWhilePressed(): void {
  options.debounceRendering = (render) => {
    if (isPressed) heldRender = render;
    else queueMicrotask(render);
  };
  const capture = { capture: true };
  addEventListener('pointerdown', pressed, capture);
  addEventListener('pointerup', released, capture);
  addEventListener('pointercancel', released, capture);
  addEventListener('dragend', released, capture);
  addEventListener('blur', ({ target }) => target === window && released(), capture);
  addEventListener('keydown', released, capture);
  // A release outside of the window is not reported.
  addEventListener('pointermove', ({ buttons }) => isPressed && buttons === 0 && released(), capture);
}

function pressed({ target, button }: PointerEvent): void {
  isPressed = button === 0 && target instanceof Element && target.closest(PRESSABLE) !== null;
}

function released(): void {
  if (!isPressed) return;
  // The click comes in the same task as the release, or right after it.
  setTimeout(() => {
    isPressed = false;
    const render = heldRender;
    heldRender = undefined;
    render?.();
  });
}
