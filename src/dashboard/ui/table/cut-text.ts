/** Gives a cell whose text is cut off a tooltip with all of it. What has a tooltip of its own keeps that. */
export function showCutText({ target }: Event): void {
  const cell = target instanceof Element ? target.closest<HTMLElement>('.cell') : null;
  if (!cell || cell.querySelector('[title]')) return;
  const parts = [cell, ...cell.querySelectorAll<HTMLElement>('*')];
  const isCut =
    cell.scrollHeight > cell.clientHeight + 1 ||
    parts.some(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth);
  if (isCut) cell.title = cell.textContent ?? '';
  else cell.removeAttribute('title');
}
