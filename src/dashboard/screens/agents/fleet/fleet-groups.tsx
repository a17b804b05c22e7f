import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { listQuery, readListState } from '../../../data/routing/list-state.ts';
import { pathTo } from '../../../data/routing/paths.ts';
import { FleetSummary } from '../../../generated/operations.ts';
import { withCondition } from '../../../ui/list/filter/terms.ts';

/** So many groups of one kind are shown: those with the most agents. */
const SHOWN_MAX = 8;

/** How many agents are online, and the groups that they are in, each a link that narrows the list to it. */
export function FleetGroups() {
  const { query } = useLocation();
  const { data } = useQuery(FleetSummary, {}, { kinds: ['agent'] });
  const fleet = data?.fleetSummary;
  if (!fleet || fleet.total === 0) return null;
  const { filter } = readListState(query);
  const link = (condition: string) => pathTo('agents') + listQuery(query, { filter: withCondition(filter, condition) });
  return (
    <dl class="fleet-groups">
      <Group title="Online">
        {fleet.online.toLocaleString('en')} of {fleet.total.toLocaleString('en')}
      </Group>
      <Group title="Versions">
        {fleet.versions.slice(0, SHOWN_MAX).map(({ version, count }) => (
          <a key={version} class="tag plain" href={link(`obj.version == ${JSON.stringify(version)}`)}>
            {version || 'not said'} · {count.toLocaleString('en')}
          </a>
        ))}
      </Group>
      {fleet.labels.length > 0 && (
        <Group title="Labels">
          {fleet.labels.slice(0, SHOWN_MAX).map(({ key, value, count }) => (
            <a
              key={`${key}=${value}`}
              class="tag plain"
              href={link(`obj.labels[${JSON.stringify(key)}] == ${JSON.stringify(value)}`)}
            >
              {key}={value} · {count.toLocaleString('en')}
            </a>
          ))}
        </Group>
      )}
      <Group title="Credentials">
        {fleet.credentials.slice(0, SHOWN_MAX).map(({ credential: { id }, description, count }) => (
          <a key={id} class="tag plain" href={link(`obj.credential.id == ${JSON.stringify(id)}`)}>
            {description || id} · {count.toLocaleString('en')}
          </a>
        ))}
      </Group>
    </dl>
  );
}

function Group({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
