import type { ComponentChildren } from 'preact';

export interface Fact {
  name: string;
  /** Not shown when it is null, undefined or false. */
  value: ComponentChildren;
}

/** What is known of one thing, as names and values. */
export function Facts({ facts }: { facts: readonly (Fact | false | null | undefined)[] }) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact &&
          fact.value !== null &&
          fact.value !== undefined &&
          fact.value !== false && (
            <div key={fact.name} class="fact">
              <dt>{fact.name}</dt>
              <dd>{fact.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
