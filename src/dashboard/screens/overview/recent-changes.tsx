// What was changed lately, on the overview.

import { pathTo } from '../../data/routing/paths.ts';
import type { OverviewQuery } from '../../generated/operations.ts';
import { Actor, actionWords, kindWords, ObjectLink } from '../../ui/history/entry-words.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

const MAX_SHOWN = 8;
/** What says nothing about why something is different than before. */
const NO_CHANGES = new Set(['SIGNED_IN', 'SIGNED_OUT', 'SIGN_IN_FAILED']);

/** What was changed lately and by whom: often the reason of what is wrong. */
export function RecentChanges({ overview: { auditEntries } }: { overview: OverviewQuery }) {
  const entries = (auditEntries?.nodes ?? []).filter(({ action }) => !NO_CHANGES.has(action)).slice(0, MAX_SHOWN);
  if (entries.length === 0) return null;
  return (
    <Section title="Changed lately" actions={<a href={pathTo('audit')}>All that was done</a>}>
      <ul class="problems" aria-label="Changed lately">
        {entries.map((entry) => (
          <li key={entry.id}>
            <span>
              {kindWords(entry.kind)} <ObjectLink entry={entry} />
            </span>
            <span class="problem-reason">
              {actionWords(entry.action)} by <Actor entry={entry} />
            </span>
            <span class="problem-since">
              <RelativeTime at={entry.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
