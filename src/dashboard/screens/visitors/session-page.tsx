// One session of a visitor: a browser at an endpoint.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { Visitor, VisitorSession, type VisitorSessionQuery } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { sessionCrumbs, visitorTitle } from './navigation.ts';
import { browserOf, USE_POLL_MS } from './session-columns.tsx';
import { SignOutDialog } from './sign-out-dialog.tsx';

type Session = NonNullable<VisitorSessionQuery['appSession']>;

export function VisitorSessionPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(VisitorSession, { id }, { kinds: ['appSession'], pollMs: USE_POLL_MS });
  const [isEnding, setEnding] = useState(false);
  const { route } = useLocation();
  const session = data?.appSession;
  if (!session || error?.code === 'NOT_FOUND')
    return <LoadingPage title="Session" crumbs={sessionCrumbs} error={error} refetch={refetch} />;
  return (
    <Page
      title={`${browserOf(session)} at ${session.publicUrl}`}
      crumbs={sessionCrumbs}
      actions={
        <Button variant="danger" onClick={() => setEnding(true)}>
          Sign out
        </Button>
      }
    >
      <ErrorNote error={error} />
      <SessionDetails session={session} />
      <AuditHistory id={id} />
      {isEnding && (
        <SignOutDialog
          session={session}
          onDone={() => route(objectPath('appUser', session.applicationUser.id), true)}
          onClose={() => setEnding(false)}
        />
      )}
    </Page>
  );
}

function SessionDetails({ session }: { session: Session }) {
  const { browserSession, endpoint } = session;
  const place = placeText(browserSession.location);
  return (
    <DescriptionList
      items={[
        { name: 'Visitor', value: <VisitorLink id={session.applicationUser.id} /> },
        {
          name: 'Signed in at',
          value: endpoint ? <a href={objectPath('endpoint', endpoint.id)}>{session.publicUrl}</a> : session.publicUrl,
        },
        { name: 'Address', value: <code>{browserSession.ipAddress}</code> },
        place !== '' && { name: 'Where that is', value: place },
        { name: 'Program', value: browserSession.userAgent.raw || <span class="muted">unknown</span> },
        { name: 'Signed in', value: <RelativeTime at={session.createdAt} /> },
        { name: 'Last active', value: <RelativeTime at={session.lastActive} /> },
        { name: 'Ends without use', value: <RelativeTime at={session.expiresAt} /> },
        { name: 'Id', value: <CopyButton text={session.id} label="the id" /> },
      ]}
    />
  );
}

/** A link to a visitor, labelled with the name. */
function VisitorLink({ id }: { id: string }) {
  const { data } = useQuery(Visitor, { id }, { kinds: ['appUser'] });
  return <a href={objectPath('appUser', id)}>{data?.appUser ? visitorTitle(data.appUser) : id}</a>;
}

/** `DE, 52.5, 13.4 (within 20 km)` */
function placeText(location: Session['browserSession']['location']): string {
  if (!location) return '';
  const { countryCode, latitude, longitude, latLongRadiusKm: radius } = location;
  const point = latitude === null || longitude === null ? '' : `${latitude}, ${longitude}`;
  const around = point !== '' && radius !== null ? ` (within ${radius} km)` : '';
  return [countryCode, point].filter(Boolean).join(', ') + around;
}
