// What belongs to the viewer: who they are, their password, and where they are signed in.

import { nameOf, viewer } from '../../data/session/session.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import { Password } from './password.tsx';
import { Sessions } from './sessions.tsx';

export default function Screen() {
  const here = viewer.value;
  if (!here) return null;
  return (
    <Page title="Your sign-in">
      <Facts
        facts={[
          { name: 'Signed in as', value: nameOf(here) },
          { name: 'Role', value: here.isAdmin ? 'admin: everything in the account' : 'member' },
          { name: 'Id', value: <code>{here.user.id}</code> },
          here.session && { name: 'Signed in', value: <When at={here.session.createdAt} /> },
          here.session && { name: 'At the latest until', value: <When at={here.session.expiresAt} /> },
        ]}
      />
      <Password />
      <Sessions />
    </Page>
  );
}
