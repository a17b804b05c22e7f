import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { EventSubscriptions } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { newSubscription } from '../navigation.ts';

/** The subscriptions that refer to a destination, among the newest 100. */
export function ReferencingSubscriptions({ destinationId }: { destinationId: string }) {
  const { data, error } = useQuery(EventSubscriptions, { first: 100 }, { kinds: ['eventSubscription'] });
  const all = data?.eventSubscriptions?.nodes;
  const users = all?.filter(({ destinations }) => destinations.some(({ id }) => id === destinationId));
  const isAll = !data?.eventSubscriptions?.pageInfo.hasNextPage;
  return (
    <Section title="Subscriptions that deliver here">
      <ErrorNote error={error} />
      {users?.length === 0 && isAll && (
        <Note>
          <p>No subscription names this destination, so nothing but test events is sent to it.</p>
          <LinkButton href={newSubscription}>New subscription</LinkButton>
        </Note>
      )}
      {users && users.length > 0 && (
        <ul class="used-by">
          {users.map(({ id, description, sources }) => (
            <li key={id}>
              <a href={objectPath('eventSubscription', id)}>{description || id}</a>{' '}
              <span class="muted">{sources.length === 1 ? '1 type of event' : `${sources.length} types of event`}</span>
            </li>
          ))}
        </ul>
      )}
      {!isAll && <p class="muted">Only the newest 100 subscriptions were looked through.</p>}
    </Section>
  );
}
