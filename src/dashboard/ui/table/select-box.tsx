import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RowSelection } from './row-selection.ts';

interface SelectBoxProps {
  selection: RowSelection;
  id: string;
  /** The id of the element that names the row. */
  labelledBy: string;
  isCurrent: boolean;
}

/** The checkbox of a row. With Shift, it selects all rows from the last one that was toggled. */
export function SelectBox({ selection, id, labelledBy, isCurrent }: SelectBoxProps) {
  return (
    <label class="select-box">
      <input
        type="checkbox"
        aria-labelledby={labelledBy}
        tabIndex={isCurrent ? 0 : -1}
        checked={selection.has(id)}
        onClick={({ shiftKey, currentTarget }) => {
          if (shiftKey) selection.extendTo(id);
          else selection.toggle(id);
          // The browser has toggled it already; a range may leave it as it was.
          currentTarget.checked = selection.has(id);
        }}
      />
    </label>
  );
}

interface SelectAllBoxProps {
  selection: RowSelection;
  /** Whether it is on screen, rather than for screen readers only. */
  isVisible: boolean;
}

/** The checkbox of all rows that are loaded: half-way while some of them are selected. */
export function SelectAllBox({ selection, isVisible }: SelectAllBoxProps) {
  const box = useRef<HTMLInputElement>(null);
  const count = selection.count.value;
  const isAll = selection.isEverything || (count > 0 && selection.loaded.every((id) => selection.has(id)));
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = count > 0 && !isAll;
  });
  return (
    <label class="select-box">
      <input
        ref={box}
        type="checkbox"
        aria-label="Select all that are loaded"
        tabIndex={isVisible ? 0 : -1}
        checked={isAll}
        onClick={({ currentTarget }) => {
          selection.toggleLoaded();
          currentTarget.checked = selection.count.value > 0;
        }}
      />
    </label>
  );
}
