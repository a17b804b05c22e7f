import type { ComponentChildren } from 'preact';

export interface DescriptionItem {
  name: string;
  /** Items whose value is null, undefined or false are left out. */
  value: ComponentChildren;
}

/** A list of names and values. */
export function DescriptionList({ items }: { items: readonly (DescriptionItem | false | null | undefined)[] }) {
  return (
    <dl class="description-list">
      {items.map(
        (item) =>
          item &&
          item.value !== null &&
          item.value !== undefined &&
          item.value !== false && (
            <div key={item.name} class="description-item">
              <dt>{item.name}</dt>
              <dd>{item.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
