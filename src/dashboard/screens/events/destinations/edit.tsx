// A new event destination, and one that is changed.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { addressOf } from '../../../data/addresses.ts';
import { useParam } from '../../../data/use-param.ts';
import { useQuery } from '../../../data/use-query.ts';
import { EventDestination } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { Page } from '../../../ui/page.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { toast } from '../../../ui/toast.tsx';
import { destinationCrumbs, lists } from '../places.ts';
import { DestinationForm } from './form.tsx';

interface Made {
  id: string;
  signingSecret: string;
}

export function NewDestination() {
  const { route } = useLocation();
  const [made, setMade] = useState<Made>();
  const go = (id: string) => route(addressOf('eventDestination', id));
  return (
    <Page
      title="New event destination"
      crumbs={destinationCrumbs}
      lead={made ? undefined : 'Nothing is sent to it until an event subscription names it.'}
    >
      {made ? (
        <SigningSecret secret={made.signingSecret} onKept={() => go(made.id)} />
      ) : (
        <DestinationForm
          onDone={(id, signingSecret) => (signingSecret ? setMade({ id, signingSecret }) : go(id))}
          onCancel={() => route(lists.destinations)}
        />
      )}
    </Page>
  );
}

export function EditDestination() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(EventDestination, { id }, { kinds: ['eventDestination'] });
  const { route } = useLocation();
  const [secret, setSecret] = useState<string>();
  const destination = data?.eventDestination;
  const address = addressOf('eventDestination', id);
  const name = destination?.description || id;

  function done(_: string, signingSecret?: string) {
    toast('The event destination is changed.');
    if (signingSecret) setSecret(signingSecret);
    else route(address);
  }

  return (
    <Page title={`Change ${name}`} crumbs={[...destinationCrumbs, { title: name, href: address }]}>
      <ErrorNote error={error} retry={() => void reload()} />
      {!destination && !error && <Skeleton />}
      {secret && <SigningSecret secret={secret} onKept={() => route(address)} />}
      {destination && !secret && (
        <DestinationForm key={id} destination={destination} onDone={done} onCancel={() => route(address)} />
      )}
    </Page>
  );
}

/** The gateway keeps it sealed, not as a digest, so that `Secret` would say something wrong. */
function SigningSecret({ secret, onKept }: { secret: string; onKept: () => void }) {
  return (
    <section class="secret" aria-label="New signing secret">
      <p>
        <strong>This is the only time that the signing secret is shown.</strong> Give it to the program that receives
        the events: it checks with it that they come from this gateway (Standard Webhooks, header{' '}
        <code>webhook-signature</code>).
      </p>
      <CodeBlock code={secret} what="the signing secret" />
      <Button look="primary" onClick={onKept}>
        I have kept it
      </Button>
    </section>
  );
}
