import { useState } from 'preact/hooks';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { logColumns } from './columns.tsx';
import { logVariables, outcomes, useLogFilter } from './filter.ts';
import { useRequestLog } from './use-request-log.ts';

const OPTIONS = Object.entries(outcomes).map(([value, { title }]) => ({ value, title }));

/** The last requests of all endpoints, or of one, live. */
export function RequestLogPage() {
  const [filter, setFilter] = useLogFilter();
  const [isPaused, setPaused] = useState(false);
  const { log, error, loadMore, refetch } = useRequestLog(logVariables(filter), !isPaused);
  const { text, outcome, endpoint } = filter;
  return (
    <Page
      title="Requests"
      lead="The last requests of every endpoint, of the last 24 hours, without headers and bodies."
    >
      <search class="log-filter">
        <TextField
          type="search"
          name="text"
          label="Text"
          placeholder="host, path, visitor, reason"
          value={text}
          onChange={(changed) => setFilter({ text: changed })}
        />
        <SelectField
          name="outcome"
          label="Outcome"
          options={OPTIONS}
          value={outcome}
          onChange={(changed) => setFilter({ outcome: changed })}
        />
        <div class="actions">
          {endpoint && <Button onClick={() => setFilter({ endpoint: '' })}>Of all endpoints</Button>}
          <Button onClick={() => setPaused(!isPaused)}>{isPaused ? 'Go on' : 'Pause'}</Button>
        </div>
      </search>
      {endpoint && (
        <p>
          Only those of one <a href={objectPath('endpoint', endpoint)}>endpoint</a>.
        </p>
      )}
      {log?.isPartial && <Note variant="warn">A node of the gateway did not answer: its requests are missing.</Note>}
      <ErrorNote error={error} retry={() => void refetch()} />
      {!log && !error && <Skeleton lines={6} />}
      {log && (
        <Table
          label="Requests"
          columns={logColumns(!endpoint)}
          rows={log.rows}
          href={(row) => pathTo('requests', row.id)}
          empty={<NoRequests isFiltered={text !== '' || outcome !== 'all'} />}
        />
      )}
      {log?.next && (
        <div>
          <Button onClick={() => void loadMore()}>Load older ones</Button>
        </div>
      )}
    </Page>
  );
}

function NoRequests({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No request is like that">Choose another outcome or another text.</EmptyState>
  ) : (
    <EmptyState title="No request came yet">Each one turns up here as soon as it is over.</EmptyState>
  );
}
