// The page of a dead letter: an event that a destination refused for good.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DiscardEventDeadLetter, EventDeadLetter, RetryEventDeadLetter } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { LoadingPage } from '../../../ui/layout/loading-page.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { destinationCrumbs } from '../navigation.ts';

export function DeadLetterPage() {
  const destinationId = useParam('id');
  const id = useParam('letterId');
  const { data, error, refetch } = useQuery(EventDeadLetter, { destinationId, id });
  const retry = useMutation(RetryEventDeadLetter);
  const discard = useMutation(DiscardEventDeadLetter);
  const [isConfirming, setConfirming] = useState(false);
  const { route } = useLocation();
  const destination = objectPath('eventDestination', destinationId);
  const crumbs = [...destinationCrumbs, { title: destinationId, href: destination }];
  const letter = data?.eventDeadLetter;

  if (!letter) {
    return <LoadingPage title="Dead letter" crumbs={crumbs} error={error} refetch={refetch} />;
  }

  function done(text: string) {
    toast(text);
    route(destination);
  }

  const actions = (
    <>
      <Button
        variant="primary"
        isBusy={retry.isBusy}
        onClick={async () => (await retry.mutate({ destinationId, id })) && done('The event is sent once more.')}
      >
        Send once more
      </Button>
      <Button onClick={() => setConfirming(true)}>Discard</Button>
    </>
  );
  return (
    <Page title={`Dead letter: ${letter.eventType}`} crumbs={crumbs} actions={actions}>
      <ErrorNote error={retry.error} />
      <DescriptionList
        items={[
          { name: 'Why it was refused', value: `${letter.errorCode}: ${letter.errorMessage}` },
          { name: 'Refused', value: <RelativeTime at={letter.createdAt} /> },
          { name: 'Event id', value: <code>{letter.eventId}</code> },
          { name: 'Id', value: <code>{id}</code> },
        ]}
      />
      <Section title="The event" lead="As it was to be delivered.">
        <CodeBlock code={prettyJson(letter.event)} label="the event" />
      </Section>
      {isConfirming && (
        <ConfirmDialog
          title="Discard this dead letter?"
          confirmLabel="Discard it"
          error={discard.error}
          isBusy={discard.isBusy}
          onConfirm={async () => (await discard.mutate({ destinationId, id })) && done('The dead letter is discarded.')}
          onClose={() => setConfirming(false)}
        >
          <p>The event in it is thrown away. Nobody can bring it back; copy it before if you need it.</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

/** Indents JSON; other text stays as it is. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
