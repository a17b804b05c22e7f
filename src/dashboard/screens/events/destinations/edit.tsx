// The pages that create and edit an event destination.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { EventDestination } from '../../../generated/operations.ts';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { OneTimeSecret } from '../../../ui/layout/one-time-secret.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { destinationCrumbs, listPaths } from '../navigation.ts';
import { DestinationForm, type NewTargetSecret } from './form.tsx';

export function NewDestination() {
  const { route } = useLocation();
  const [created, setCreated] = useState<{ id: string; secret: NewTargetSecret }>();
  const showDestination = (id: string) => route(objectPath('eventDestination', id));
  return (
    <Page
      title="New event destination"
      crumbs={destinationCrumbs}
      lead={created ? undefined : 'Nothing is sent to it until an event subscription names it.'}
    >
      {created ? (
        <NewSecret secret={created.secret} onKept={() => showDestination(created.id)} />
      ) : (
        <DestinationForm
          onDone={(id, secret) => (secret ? setCreated({ id, secret }) : showDestination(id))}
          onCancel={() => route(listPaths.destinations)}
        />
      )}
    </Page>
  );
}

export function EditDestination() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(EventDestination, { id }, { kinds: ['eventDestination'] });
  const { route } = useLocation();
  const [secret, setSecret] = useState<NewTargetSecret>();
  const destination = data?.eventDestination;
  const detailPath = objectPath('eventDestination', id);
  const name = destination?.description || id;
  if (error?.code === 'NOT_FOUND')
    return <LoadingPage title="Event destination" crumbs={destinationCrumbs} error={error} refetch={refetch} />;

  function done(_: string, created?: NewTargetSecret) {
    toast('The event destination is changed.');
    if (created) setSecret(created);
    else route(detailPath);
  }

  return (
    <Page title={`Change “${name}”`} crumbs={[...destinationCrumbs, { title: name, href: detailPath }]}>
      <ErrorNote error={error} retry={() => void refetch()} />
      {!destination && !error && <Skeleton />}
      {secret && <NewSecret secret={secret} onKept={() => route(detailPath)} />}
      {destination && !secret && (
        <DestinationForm key={id} destination={destination} onDone={done} onCancel={() => route(detailPath)} />
      )}
    </Page>
  );
}

interface NewSecretProps {
  secret: NewTargetSecret;
  onKept: () => void;
}

/** Unlike the secrets of the gateway itself, this one is stored encrypted and not as a digest. */
function NewSecret({ secret: { secret, name, advice }, onKept }: NewSecretProps) {
  return <OneTimeSecret name={name} secret={secret} advice={advice} onDismiss={onKept} />;
}
