// What is wrong and since when, each with a link to why.

import type { ComponentChildren } from 'preact';
import { objectPath } from '../../data/routing/paths.ts';
import type { AlertCondition, OverviewDestinationFragment, OverviewQuery } from '../../generated/operations.ts';
import { Note } from '../../ui/feedback/note.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Count, formatCount } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { conditionForms } from '../alerts/conditions.ts';
import { CertificateWarningList } from '../domains/provisioning/warnings.tsx';
import { failingOf, failureText } from '../endpoints/failing-list.tsx';

interface Problem {
  href: string;
  name: string;
  tag: ComponentChildren;
  /** What is known about the reason. */
  reason: ComponentChildren;
  since: string | null | undefined;
}

export function Problems({ overview }: { overview: OverviewQuery }) {
  const problems = [
    ...alertProblems(overview),
    ...failingProblems(overview),
    ...destinationProblems(overview),
    ...offlineProblems(overview),
  ];
  return (
    <Section title="What needs a look">
      <CertificateWarningList />
      {problems.length === 0 && (
        <Note variant="good">
          <p>No alert fires, no endpoint fails or went offline, and events are delivered.</p>
        </Note>
      )}
      {problems.length > 0 && (
        <ul class="problems" aria-label="What needs a look">
          {problems.map(({ href, name, tag, reason, since }) => (
            <li key={href}>
              {tag}
              <a href={href}>{name}</a>
              <span class="problem-reason">{reason}</span>
              {since && (
                <span class="problem-since">
                  for <RelativeTime at={since} as="since" />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function alertProblems({ openAlerts }: OverviewQuery): Problem[] {
  return (openAlerts ?? []).map(({ id, name, state, severity, subjectCount, condition, since }) => ({
    href: objectPath('alert', id),
    name,
    tag: (
      <Tag variant={severity === 'CRITICAL' ? 'bad' : 'warn'}>
        {state === 'FIRING' ? 'alert' : 'alert, acknowledged'}
      </Tag>
    ),
    reason: alertReason(subjectCount, condition),
    since,
  }));
}

function alertReason(count: number, condition: AlertCondition): string {
  const [one, many] = conditionForms[condition].nouns;
  return count === 0 ? conditionForms[condition].title : `${formatCount(count)} ${count === 1 ? one : many}`;
}

function failingProblems({ failing }: OverviewQuery): Problem[] {
  return failingOf(failing ?? { nodes: [] }).map(({ id, publicUrl, health: { since, errorShare, requests } }) => ({
    href: objectPath('endpoint', id),
    name: publicUrl,
    tag: <Tag variant="bad">failing</Tag>,
    reason: errorShare === null ? 'nobody asked it since' : failureText(errorShare, requests),
    since,
  }));
}

function destinationProblems({ eventDestinations }: OverviewQuery): Problem[] {
  const stuck = (eventDestinations?.nodes ?? []).filter(({ delivery }) => delivery.state !== 'OK');
  return stuck.map((destination) => ({
    href: objectPath('eventDestination', destination.id),
    name: destination.description || destination.id,
    tag: (
      <Tag variant={destination.delivery.state === 'FAILING' ? 'bad' : 'warn'}>
        events {destination.delivery.state.toLowerCase()}
      </Tag>
    ),
    reason: stuckReason(destination),
    since: destination.delivery.oldestWaitingAt ?? destination.delivery.lastError?.at,
  }));
}

function stuckReason({ delivery: { waitingEvents, lastError } }: OverviewDestinationFragment): ComponentChildren {
  return (
    <>
      {lastError && `${lastError.code}, `}
      <Count value={waitingEvents} /> {waitingEvents === 1 ? 'event waits' : 'events wait'}
    </>
  );
}

function offlineProblems({ offlineEndpoints }: OverviewQuery): Problem[] {
  return (offlineEndpoints?.nodes ?? []).map(({ id, publicUrl, reason, offlineAt }) => ({
    href: objectPath('offlineEndpoint', id),
    name: publicUrl,
    tag: <Tag>offline</Tag>,
    reason,
    since: offlineAt,
  }));
}
