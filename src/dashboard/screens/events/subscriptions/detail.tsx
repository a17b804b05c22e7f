// The pages that create and edit an event subscription.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { execute, toApiFailure } from '../../../data/client/client.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import {
  CreateEventSubscription,
  DeleteEventSubscription,
  EventSubscription,
  type EventSubscriptionFactsFragment,
  UpdateEventSubscription,
} from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { toast, toastWithUndo } from '../../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { listPaths, subscriptionCrumbs } from '../navigation.ts';
import { SubscriptionForm } from './form.tsx';

export function NewSubscription() {
  const { route } = useLocation();
  return (
    <Page title="New event subscription" crumbs={subscriptionCrumbs}>
      <SubscriptionForm
        onDone={() => {
          toast('The event subscription is created.');
          route(listPaths.subscriptions);
        }}
        onCancel={() => route(listPaths.subscriptions)}
      />
    </Page>
  );
}

export function SubscriptionPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(EventSubscription, { id }, { kinds: ['eventSubscription'] });
  const [isConfirming, setConfirming] = useState(false);
  const { route } = useLocation();
  const subscription = data?.eventSubscription;
  if (!subscription) {
    return <LoadingPage title="Event subscription" crumbs={subscriptionCrumbs} error={error} refetch={refetch} />;
  }
  return (
    <Page
      title={subscription.description || id}
      crumbs={subscriptionCrumbs}
      actions={
        <Button variant="danger" onClick={() => setConfirming(true)}>
          Delete
        </Button>
      }
    >
      <SubscriptionForm
        key={id}
        subscription={subscription}
        onDone={() => {
          const input = subscriptionInput(subscription);
          toastWithUndo('The event subscription is changed.', UpdateEventSubscription, { id, input });
          route(listPaths.subscriptions);
        }}
        onCancel={() => route(listPaths.subscriptions)}
      />
      <AuditHistory id={id} />
      {isConfirming && <DeleteDialog subscription={subscription} onClose={() => setConfirming(false)} />}
    </Page>
  );
}

interface DeleteDialogProps {
  subscription: EventSubscriptionFactsFragment;
  onClose: () => void;
}

function DeleteDialog({ subscription, onClose }: DeleteDialogProps) {
  const remove = useMutation(DeleteEventSubscription);
  const { route } = useLocation();
  return (
    <ConfirmDialog
      title="Delete this event subscription?"
      confirmLabel="Delete the subscription"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={async () => {
        if (!(await remove.mutate({ id: subscription.id }))) return;
        toast('The event subscription is deleted.', { undo: () => void recreateSubscription(subscription, route) });
        route(listPaths.subscriptions);
      }}
      onClose={onClose}
    >
      <p>Its events are no longer delivered. Its destinations stay.</p>
    </ConfirmDialog>
  );
}

/** Creates the subscription again, with another id. Events in between were not delivered. */
async function recreateSubscription(
  subscription: EventSubscriptionFactsFragment,
  route: (path: string) => void,
): Promise<void> {
  try {
    const { createEventSubscription } = await execute(CreateEventSubscription, {
      input: subscriptionInput(subscription),
    });
    if (createEventSubscription) route(objectPath('eventSubscription', createEventSubscription.eventSubscription.id));
  } catch (error) {
    toast(`It couldn’t be undone. ${toApiFailure(error).message}`);
  }
}

/** The input that creates the subscription again or restores it. */
function subscriptionInput({ description, metadata, sources, destinations }: EventSubscriptionFactsFragment) {
  return { description, metadata, sources, destinationIds: destinations.map(({ id }) => id) };
}
