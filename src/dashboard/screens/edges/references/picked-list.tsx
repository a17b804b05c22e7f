// The objects that were picked in a field: each can be removed, and moved where the order matters.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { kindOf, objectPath } from '../../../data/routing/paths.ts';
import { Button } from '../../../ui/button.tsx';
import { announce } from '../../../ui/feedback/toast.tsx';

export interface PickedListOptions {
  /** The order matters: each has buttons that move it. */
  isOrdered?: boolean;
  /** What else is set of each. */
  besides?: (id: string, title: string) => ComponentChildren;
}

interface PickedListProps extends PickedListOptions {
  ids: readonly string[];
  titleOf: (id: string) => string;
  onChange: (ids: readonly string[]) => void;
}

type Direction = 'up' | 'down';

export function PickedList({ ids, titleOf, onChange, isOrdered = false, besides }: PickedListProps) {
  const list = useRef<HTMLDivElement>(null);
  /** The button that gets the focus once the list is rendered anew: rows that move or vanish lose it. */
  const focused = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (focused.current === undefined) return;
    const button = list.current?.querySelector<HTMLElement>(`[data-button="${focused.current}"] button`);
    (button ?? list.current?.parentElement?.querySelector('select'))?.focus();
    focused.current = undefined;
  });

  function move(index: number, direction: Direction) {
    const id = ids[index] ?? '';
    const place = index + (direction === 'up' ? -1 : 1);
    focused.current = `${direction} ${id}`;
    onChange(ids.toSpliced(index, 1).toSpliced(place, 0, id));
    announce(`${titleOf(id)} is now number ${place + 1} of ${ids.length}.`);
  }

  function remove(index: number) {
    focused.current = `remove ${ids[index + 1] ?? ids[index - 1] ?? ''}`;
    onChange(ids.toSpliced(index, 1));
  }

  const rows = ids.map((id, index) => {
    const title = titleOf(id);
    return (
      <li key={id}>
        <span class="picked-title">
          {isOrdered && <span class="muted">{index + 1}. </span>}
          <a href={objectPath(kindOf(id) ?? '', id)}>{title}</a>
        </span>
        {besides?.(id, title)}
        <span class="picked-buttons">
          {isOrdered && (
            <>
              <span data-button={`up ${id}`}>
                <Button
                  variant="plain"
                  label={`Move ${title} up`}
                  isDisabled={index === 0}
                  onClick={() => move(index, 'up')}
                >
                  ↑
                </Button>
              </span>
              <span data-button={`down ${id}`}>
                <Button
                  variant="plain"
                  label={`Move ${title} down`}
                  isDisabled={index === ids.length - 1}
                  onClick={() => move(index, 'down')}
                >
                  ↓
                </Button>
              </span>
            </>
          )}
          <span data-button={`remove ${id}`}>
            <Button variant="plain" label={`Remove ${title}`} onClick={() => remove(index)}>
              ✕
            </Button>
          </span>
        </span>
      </li>
    );
  });
  return <div ref={list}>{ids.length > 0 && (isOrdered ? <ol>{rows}</ol> : <ul>{rows}</ul>)}</div>;
}
