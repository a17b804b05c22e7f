// One event that a destination refused for good.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useAction } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { addressOf } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DiscardEventDeadLetter, EventDeadLetter, RetryEventDeadLetter } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { Facts } from '../../../ui/text/description-list.tsx';
import { When } from '../../../ui/text/relative-time.tsx';
import { destinationCrumbs } from '../navigation.ts';

export function OneDeadLetter() {
  const destinationId = useParam('id');
  const id = useParam('letterId');
  const { data, error, reload } = useQuery(EventDeadLetter, { destinationId, id });
  const retry = useAction(RetryEventDeadLetter);
  const discard = useAction(DiscardEventDeadLetter);
  const [isAsking, setAsking] = useState(false);
  const { route } = useLocation();
  const destination = addressOf('eventDestination', destinationId);
  const crumbs = [...destinationCrumbs, { title: destinationId, href: destination }];
  const letter = data?.eventDeadLetter;

  if (!letter) {
    return (
      <Page title="Dead letter" crumbs={crumbs}>
        {error ? <ErrorNote error={error} retry={() => void reload()} /> : <Skeleton />}
      </Page>
    );
  }

  function done(text: string) {
    toast(text);
    route(destination);
  }

  const actions = (
    <>
      <Button
        look="primary"
        isBusy={retry.isBusy}
        onClick={async () => (await retry.act({ destinationId, id })) && done('The event is sent once more.')}
      >
        Send once more
      </Button>
      <Button onClick={() => setAsking(true)}>Discard</Button>
    </>
  );
  return (
    <Page title={`Dead letter: ${letter.eventType}`} crumbs={crumbs} actions={actions}>
      <ErrorNote error={retry.error} />
      <Facts
        facts={[
          { name: 'Why it was refused', value: `${letter.errorCode}: ${letter.errorMessage}` },
          { name: 'Refused', value: <When at={letter.createdAt} /> },
          { name: 'Event id', value: <code>{letter.eventId}</code> },
          { name: 'Id', value: <code>{id}</code> },
        ]}
      />
      <Section title="The event" lead="As it was to be delivered.">
        <CodeBlock code={indented(letter.event)} what="the event" />
      </Section>
      {isAsking && (
        <Confirm
          title="Discard this dead letter?"
          action="Discard it"
          error={discard.error}
          isBusy={discard.isBusy}
          onConfirm={async () => (await discard.act({ destinationId, id })) && done('The dead letter is discarded.')}
          onClose={() => setAsking(false)}
        >
          <p>The event in it is thrown away. Nobody can bring it back; copy it before if you need it.</p>
        </Confirm>
      )}
    </Page>
  );
}

/** JSON for people; a text that is none as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
