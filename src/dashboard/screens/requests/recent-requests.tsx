import { useMemo } from 'preact/hooks';
import { pathTo } from '../../data/routing/paths.ts';
import { LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { logColumns } from './columns.tsx';
import { useRequestLog } from './use-request-log.ts';

const SHOWN = 10;

/** The last requests of an endpoint, live, for its page. */
export function RecentRequests({ endpointId }: { endpointId: string }) {
  const variables = useMemo(() => ({ endpointId }), [endpointId]);
  const { log, error } = useRequestLog(variables, true);
  return (
    <Section
      title="Last requests"
      actions={<LinkButton href={`${pathTo('requests')}?endpoint=${endpointId}`}>All of them</LinkButton>}
    >
      <ErrorNote error={error} />
      {log && (
        <Table
          label="Last requests"
          columns={logColumns(false)}
          rows={log.rows.slice(0, SHOWN)}
          href={(row) => pathTo('requests', row.id)}
          empty={<p class="muted">No request came yet.</p>}
        />
      )}
    </Section>
  );
}
