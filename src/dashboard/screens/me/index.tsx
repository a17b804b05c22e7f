// The viewer's own page: role, password, second factor, passkeys and browser sessions.

import { viewer, viewerName } from '../../data/session/session.ts';
import { Page } from '../../ui/layout/page.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { OwnPasskeys } from './passkeys.tsx';
import { Password } from './password.tsx';
import { OwnSecondFactor } from './second-factor.tsx';
import { OwnSessions } from './sessions.tsx';

export default function Screen() {
  const currentViewer = viewer.value;
  if (!currentViewer) return null;
  return (
    <Page title="Your sign-in">
      <DescriptionList
        items={[
          { name: 'Signed in as', value: viewerName(currentViewer) },
          { name: 'Role', value: currentViewer.isAdmin ? 'admin: everything in the account' : 'member' },
          { name: 'Id', value: <code>{currentViewer.user.id}</code> },
          currentViewer.session && { name: 'Signed in', value: <RelativeTime at={currentViewer.session.createdAt} /> },
          currentViewer.session && {
            name: 'Ends at the latest',
            value: <RelativeTime at={currentViewer.session.expiresAt} />,
          },
        ]}
      />
      <Password />
      {currentViewer.hasPassword && <OwnSecondFactor />}
      {currentViewer.hasPassword && <OwnPasskeys />}
      <OwnSessions />
    </Page>
  );
}
