// What stands in the way of an edge's name, and what it takes, while it is typed.

import { useDebounced } from '../../../data/hooks/use-debounced.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { CheckEdgeName } from '../../../generated/operations.ts';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';

const DEBOUNCE_MS = 300;

export function NameCheck({ host: typed }: { host: string }) {
  const host = useDebounced(typed.trim(), DEBOUNCE_MS);
  const { data, error } = useQuery(CheckEdgeName, { host }, { skip: host === '', kinds: ['reservedDomain'] });
  const check = data?.checkEdgeName;
  if (host === '') return null;
  return (
    <div aria-live="polite">
      <ErrorNote error={error} />
      {check?.problem && <Note variant="warn">{check.problem}</Note>}
      {check && !check.problem && (
        <p class="help">
          {check.reservedDomain ? (
            <>
              <strong>{check.host}</strong> is free, and comes under your domain{' '}
              <a href={objectPath('reservedDomain', check.reservedDomain.id)}>{check.reservedDomain.domain}</a>.
            </>
          ) : (
            <>
              <strong>{check.host}</strong> is free, and will be reserved for your account.{' '}
              {check.needsDns
                ? 'Its DNS then needs a record that leads to the gateway, which is shown once it is reserved.'
                : 'It lies below the name of the gateway: its DNS needs nothing.'}
            </>
          )}
        </p>
      )}
    </div>
  );
}
