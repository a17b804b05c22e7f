import type { LoggedRowFragment } from '../../generated/operations.ts';
import { StatusTag } from '../../ui/feedback/status-tag.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

const hostColumn: Column<LoggedRowFragment> = { key: 'host', title: 'Host', width: '2fr', cell: ({ host }) => host };

/** The columns of logged requests. @param showsHost whether they are of several endpoints. */
export function logColumns(showsHost: boolean): Column<LoggedRowFragment>[] {
  return [
    {
      key: 'request',
      title: 'Request',
      width: '3fr',
      cell: ({ method, path }) => `${method} ${path}`,
    },
    ...(showsHost ? [hostColumn] : []),
    { key: 'status', title: 'Status', width: '5.5rem', cell: (row) => <StatusTag status={row.status} /> },
    {
      key: 'duration',
      title: 'Took',
      width: '5.5rem',
      align: 'end',
      cell: (row) => <Milliseconds value={row.durationMilliseconds} />,
    },
    { key: 'why', title: 'Why', width: '2.5fr', cell: (row) => <Why row={row} /> },
    { key: 'client', title: 'Visitor', width: '1.2fr', priority: 3, cell: (row) => row.clientIp },
    { key: 'when', title: 'When', width: '6.5rem', priority: 2, cell: (row) => <RelativeTime at={row.startedAt} /> },
  ];
}

function Why({ row: { refusal, isComplete, isOpen, status } }: { row: LoggedRowFragment }) {
  return (
    <>
      {isOpen && <Tag variant="good">open</Tag>}
      {!isComplete && !isOpen && status !== null && <Tag variant="warn">cut off</Tag>}{' '}
      {refusal && <span title={refusal.reason}>{refusal.reason}</span>}
    </>
  );
}
