import type { ComponentChildren } from 'preact';

export interface DescriptionItem {
  name: string;
  /** Not shown when it is null, undefined or false. */
  value: ComponentChildren;
}

/** What is known of one thing, as names and values. */
export function DescriptionList({ items }: { items: readonly (DescriptionItem | false | null | undefined)[] }) {
  return (
    <dl class="facts">
      {items.map(
        (item) =>
          item &&
          item.value !== null &&
          item.value !== undefined &&
          item.value !== false && (
            <div key={item.name} class="fact">
              <dt>{item.name}</dt>
              <dd>{item.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
