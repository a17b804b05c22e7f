// The page of an event destination: delivery, target, subscriptions and dead letters.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DeleteEventDestination, EventDestination } from '../../../generated/operations.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { destinationCrumbs, editPath, listPaths } from '../navigation.ts';
import { DeadLetterList } from './dead-letter-list.tsx';
import { DeliveryDetails, useDelivery } from './delivery-facts.tsx';
import { ReferencingSubscriptions } from './referencing-subscriptions.tsx';
import { targetDetails, targetKind } from './target-values.ts';
import { targetKindForm } from './targets.ts';
import { useTestEvent } from './test-event.tsx';

export function DestinationPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(EventDestination, { id }, { kinds: ['eventDestination'] });
  const destination = data?.eventDestination;
  const delivery = useDelivery(id, destination?.delivery);
  const testEvent = useTestEvent(id);
  const [isConfirming, setConfirming] = useState(false);

  if (!destination || !delivery) {
    return <LoadingPage title="Event destination" crumbs={destinationCrumbs} error={error} refetch={refetch} />;
  }
  const name = destination.description || id;
  const kind = targetKind(destination.target);
  const actions = (
    <>
      {testEvent.button}
      <LinkButton href={editPath(id)}>Change</LinkButton>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        Delete
      </Button>
    </>
  );
  return (
    <Page title={name} crumbs={destinationCrumbs} actions={actions}>
      {testEvent.outcome}
      <Section
        title="Delivery"
        lead="Events are delivered in order and at least once: one that comes twice has the same id."
      >
        <DeliveryDetails delivery={delivery} />
      </Section>
      <Section title="Target">
        <DescriptionList
          items={[
            kind && { name: 'Kind', value: targetKindForm(kind).title },
            ...targetDetails(destination.target).map(({ name, value }) => ({ name, value: <code>{value}</code> })),
            { name: 'Id', value: <code>{id}</code> },
            { name: 'Created', value: <RelativeTime at={destination.createdAt} /> },
            destination.metadata !== '' && { name: 'Metadata', value: <code>{destination.metadata}</code> },
          ]}
        />
      </Section>
      <ReferencingSubscriptions destinationId={id} />
      <DeadLetterList key={id} destinationId={id} count={delivery.deadLetters} />
      <AuditHistory id={id} />
      {isConfirming && <DeleteDialog id={id} name={name} onClose={() => setConfirming(false)} />}
    </Page>
  );
}

function DeleteDialog({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
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
        route(listPaths.destinations);
      }}
      onClose={onClose}
    >
      <p>What waits for it and its dead letters are lost. Subscriptions that name it have to be changed first.</p>
    </ConfirmDialog>
  );
}
