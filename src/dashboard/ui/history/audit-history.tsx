import { useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { kindOf, pathTo } from '../../data/routing/paths.ts';
import { AuditEntryDetails, type AuditEntryRowFragment, ObjectHistory } from '../../generated/operations.ts';
import { Button } from '../button.tsx';
import { ErrorNote } from '../feedback/error-note.tsx';
import { Skeleton } from '../feedback/skeleton.tsx';
import { Section } from '../layout/page.tsx';
import { RelativeTime } from '../text/relative-time.tsx';
import { EntryDifference } from './entry-difference.tsx';
import { actionWords, actorName } from './entry-words.tsx';

/** How many are shown at first, and how many more at most: the audit page has the rest. */
const FIRST = 5;
const MORE = 50;

/** Who changed an object, the newest first; what changed is loaded when it is asked for. */
export function AuditHistory({ id }: { id: string }) {
  const [first, setFirst] = useState(FIRST);
  const kind = kindOf(id);
  const { data, error, refetch } = useQuery(
    ObjectHistory,
    { id, first },
    { kinds: kind ? [kind] : [], keepPreviousData: true },
  );
  const history = data?.objectHistory;
  const hasMore = history?.pageInfo.hasNextPage;
  return (
    <Section title="History" lead="Who changed what, as far back as the audit trail is kept.">
      <ErrorNote error={error} retry={() => void refetch()} />
      {!history && !error && <Skeleton lines={2} />}
      {history?.nodes.length === 0 && <p class="muted">Nothing is recorded.</p>}
      {history && history.nodes.length > 0 && (
        <ul class="history">
          {history.nodes.map((entry) => (
            <li key={entry.id}>
              <HistoryEntry entry={entry} />
            </li>
          ))}
        </ul>
      )}
      {hasMore && first < MORE && <Button onClick={() => setFirst(MORE)}>Show more</Button>}
      {hasMore && first === MORE && <a href={`${pathTo('audit')}?object=${encodeURIComponent(id)}`}>Older entries</a>}
    </Section>
  );
}

function HistoryEntry({ entry }: { entry: AuditEntryRowFragment }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{actionWords(entry.action)}</strong> by {actorName(entry)}, <RelativeTime at={entry.createdAt} />
      </summary>
      {isOpen && <LoadedDifference id={entry.id} />}
    </details>
  );
}

function LoadedDifference({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(AuditEntryDetails, { id });
  const entry = data?.auditEntry;
  if (entry)
    return (
      <>
        <EntryDifference {...entry} />
        <a href={pathTo('audit', id)}>The whole entry</a>
      </>
    );
  return error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton lines={2} />;
}
