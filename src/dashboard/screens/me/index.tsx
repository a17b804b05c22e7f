// What belongs to the viewer: who they are, their password, and where they are signed in.

import { viewer, viewerName } from '../../data/session/session.ts';
import { Page } from '../../ui/layout/page.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { Password } from './password.tsx';
import { Sessions } from './sessions.tsx';

export default function Screen() {
  const here = viewer.value;
  if (!here) return null;
  return (
    <Page title="Your sign-in">
      <DescriptionList
        items={[
          { name: 'Signed in as', value: viewerName(here) },
          { name: 'Role', value: here.isAdmin ? 'admin: everything in the account' : 'member' },
          { name: 'Id', value: <code>{here.user.id}</code> },
          here.session && { name: 'Signed in', value: <RelativeTime at={here.session.createdAt} /> },
          here.session && { name: 'At the latest until', value: <RelativeTime at={here.session.expiresAt} /> },
        ]}
      />
      <Password />
      <Sessions />
    </Page>
  );
}
