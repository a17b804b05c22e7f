// The columns of lists of visitors' sessions.

import type { VisitorSessionRowFragment } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { describeBrowser } from '../me/browser-name.ts';

/** The change feed has no events for the use of a session, which is noted once a minute. */
export const USE_POLL_MS = 30_000;

/** The browser of a session in words. */
export function browserOf({ browserSession }: Pick<VisitorSessionRowFragment, 'browserSession'>): string {
  return describeBrowser(browserSession.userAgent.raw);
}

/** @param signOut asks whether to end a session. */
export function sessionColumns(signOut: (row: VisitorSessionRowFragment) => void): Column<VisitorSessionRowFragment>[] {
  return [
    { key: 'url', member: 'public_url', title: 'Signed in at', width: '2fr', cell: ({ publicUrl }) => publicUrl },
    {
      key: 'browser',
      title: 'Browser',
      width: '1.5fr',
      priority: 2,
      cell: (row) => <span title={row.browserSession.userAgent.raw}>{browserOf(row)}</span>,
    },
    {
      key: 'ip',
      member: 'browser_session.ip_address',
      title: 'Address',
      width: '1fr',
      priority: 2,
      cell: ({ browserSession }) => <code>{browserSession.ipAddress}</code>,
    },
    {
      key: 'active',
      isLabelled: true,
      member: 'last_active',
      title: 'Last active',
      width: '8rem',
      cell: ({ lastActive }) => <RelativeTime at={lastActive} />,
    },
    {
      key: 'created',
      isLabelled: true,
      member: 'created_at',
      title: 'Since',
      width: '8rem',
      priority: 3,
      cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
    },
    {
      key: 'end',
      title: '',
      width: '6rem',
      cell: (row) => (
        <Button variant="plain" label={`Sign out ${browserOf(row)} at ${row.publicUrl}`} onClick={() => signOut(row)}>
          Sign out
        </Button>
      ),
    },
  ];
}
