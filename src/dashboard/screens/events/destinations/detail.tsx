// One event destination: how delivery is going, where it leads, who uses it, and what it refused.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DeleteEventDestination, EventDestination } from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { destinationCrumbs, editOf, lists } from '../navigation.ts';
import { DeadLetters } from './dead-letter-list.tsx';
import { DeliveryFacts, useDelivery } from './delivery-facts.tsx';
import { UsedBy } from './referencing-subscriptions.tsx';
import { kindIn, targetFacts } from './target-values.ts';
import { factsOf } from './targets.ts';
import { useTrial } from './test-event.tsx';

export function OneDestination() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(EventDestination, { id }, { kinds: ['eventDestination'] });
  const destination = data?.eventDestination;
  const delivery = useDelivery(id, destination?.delivery);
  const trial = useTrial(id);
  const [isAsking, setAsking] = useState(false);

  if (!destination || !delivery) {
    return (
      <Page title="Event destination" crumbs={destinationCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const name = destination.description || id;
  const kind = kindIn(destination.target);
  const actions = (
    <>
      {trial.button}
      <LinkButton href={editOf(id)}>Change</LinkButton>
      <Button variant="danger" onClick={() => setAsking(true)}>
        Delete
      </Button>
    </>
  );
  return (
    <Page title={name} crumbs={destinationCrumbs} actions={actions}>
      {trial.outcome}
      <Section
        title="Delivery"
        lead="Events are delivered in order and at least once: one that comes twice has the same id."
      >
        <DeliveryFacts delivery={delivery} />
      </Section>
      <Section title="Target">
        <DescriptionList
          items={[
            kind && { name: 'Kind', value: factsOf(kind).title },
            ...targetFacts(destination.target).map(({ name, value }) => ({ name, value: <code>{value}</code> })),
            { name: 'Id', value: <code>{id}</code> },
            { name: 'Created', value: <RelativeTime at={destination.createdAt} /> },
            destination.metadata !== '' && { name: 'Metadata', value: <code>{destination.metadata}</code> },
          ]}
        />
      </Section>
      <UsedBy destinationId={id} />
      <DeadLetters key={id} destinationId={id} count={delivery.deadLetters} />
      {isAsking && <Delete id={id} name={name} onClose={() => setAsking(false)} />}
    </Page>
  );
}

function Delete({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const remove = useMutation(DeleteEventDestination);
  const { route } = useLocation();
  return (
    <ConfirmDialog
      title="Delete this event destination?"
      typeToConfirm={name}
      confirmLabel="Delete the destination"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={async () => {
        if (!(await remove.mutate({ id }))) return;
        toast('The event destination is deleted.');
        route(lists.destinations);
      }}
      onClose={onClose}
    >
      <p>What waits for it and its dead letters are lost. Subscriptions that name it have to be changed first.</p>
    </ConfirmDialog>
  );
}
