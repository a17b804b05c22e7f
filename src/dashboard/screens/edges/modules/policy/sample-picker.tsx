// The choice of a captured request for a dry run, of those at certain addresses.

import { useState } from 'preact/hooks';
import { useQuery } from '../../../../data/hooks/use-query.ts';
import { pathTo } from '../../../../data/routing/paths.ts';
import { CapturedRequests, type CapturedRowFragment, SampleEndpoints } from '../../../../generated/operations.ts';
import { Button } from '../../../../ui/button.tsx';
import { Dialog } from '../../../../ui/dialogs/dialog.tsx';
import { ErrorNote } from '../../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../../ui/feedback/skeleton.tsx';
import { StatusTag } from '../../../../ui/feedback/status-tag.tsx';
import { SelectField } from '../../../../ui/forms/choice-fields.tsx';
import { RelativeTime } from '../../../../ui/text/relative-time.tsx';

const SHOWN_MAX = 20;

interface SamplePickerProps {
  /** Which addresses, as a filter of the API. */
  endpoints: string;
  /** Called with the id of a captured request. */
  onPick: (id: string) => void;
  onClose: () => void;
}

export function SamplePicker({ endpoints: filter, onPick, onClose }: SamplePickerProps) {
  const { data, error } = useQuery(SampleEndpoints, { filter });
  const endpoints = data?.endpoints?.nodes;
  const [chosen, setChosen] = useState<string>();
  const endpointId = chosen ?? endpoints?.[0]?.id;
  return (
    <Dialog title="Use a captured request" onClose={onClose}>
      <ErrorNote error={error} />
      {!endpoints && !error && <Skeleton />}
      {endpoints && endpoints.length > 1 && (
        <SelectField
          name="endpoint"
          label="Address"
          value={endpointId ?? ''}
          onChange={setChosen}
          options={endpoints.map(({ id, publicUrl }) => ({ value: id, title: publicUrl }))}
        />
      )}
      {endpoints?.length === 0 && <p>There is no address that answers, so nothing can be captured.</p>}
      {endpointId !== undefined && <Requests key={endpointId} endpointId={endpointId} onPick={onPick} />}
    </Dialog>
  );
}

function Requests({ endpointId, onPick }: { endpointId: string; onPick: (id: string) => void }) {
  const { data, error } = useQuery(CapturedRequests, { endpointId, first: SHOWN_MAX });
  const rows = data?.capturedRequests?.nodes;
  if (error) return <ErrorNote error={error} />;
  if (!rows) return <Skeleton />;
  if (rows.length === 0)
    return (
      <p>
        No request is kept. <a href={pathTo('traffic', endpointId)}>Switch capture on</a>, and use one that comes.
      </p>
    );
  return (
    <ul class="sample-list" aria-label="Captured requests">
      {rows.map((row) => (
        <Row key={row.id} row={row} onPick={onPick} />
      ))}
    </ul>
  );
}

function Row({ row, onPick }: { row: CapturedRowFragment; onPick: (id: string) => void }) {
  return (
    <li>
      <Button variant="plain" onClick={() => onPick(row.id)}>
        {row.method} {row.path}
      </Button>{' '}
      <StatusTag status={row.status} />{' '}
      <span class="muted">
        <RelativeTime at={row.startedAt} />
      </span>
    </li>
  );
}
