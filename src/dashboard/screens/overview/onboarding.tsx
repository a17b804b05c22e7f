// The first steps of a new account. Each ticks itself off by what is there.

import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { viewer } from '../../data/session/session.ts';
import type { OverviewOnboardingQuery } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type ListedStep, StepList } from '../../ui/layout/step-list.tsx';
import { CodeBlock } from '../../ui/text/code-block.tsx';
import { StartCommand } from '../credentials/start-command.tsx';
import { dismiss } from './onboarding-dismissal.ts';

export interface OnboardingProps {
  facts: OverviewOnboardingQuery;
}

export function Onboarding({ facts }: OnboardingProps) {
  const userId = viewer.value?.user.id;
  const steps = stepsOf(facts);
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <Section
      title="First steps"
      lead={`${done} of ${steps.length} are done. Each ticks itself off as soon as it is.`}
      actions={userId && <Button onClick={() => dismiss(userId)}>Don’t show this any more</Button>}
    >
      <StepList steps={steps} />
    </Section>
  );
}

/** Whether everything is done. */
export function isOnboarded(facts: OverviewOnboardingQuery): boolean {
  return stepsOf(facts).every(({ isDone }) => isDone);
}

/** Whether an agent was ever there. */
export function hasServed({ endpoints, offlineEndpoints }: OverviewOnboardingQuery): boolean {
  return count(endpoints) + count(offlineEndpoints) > 0;
}

function stepsOf(facts: OverviewOnboardingQuery): ListedStep[] {
  const { credentials, endpoints, reservedDomains, eventDestinations, users, trafficHistory } = facts;
  const total = trafficHistory?.total;
  const endpoint = endpoints?.nodes[0];
  return [
    {
      title: 'Make a credential',
      isDone: count(credentials) > 0,
      help: (
        <>
          <p>An agent shows its authtoken to be let in. A credential may say what its agents may serve.</p>
          <LinkButton href={pathTo('credentials', 'new')}>New credential</LinkButton>
        </>
      ),
    },
    {
      title: 'Run an agent beside your program',
      isDone: hasServed(facts),
      help: (
        <>
          <p>
            Put the authtoken of a <a href={pathTo('credentials')}>credential</a> into this line: it was shown when the
            credential was made, and the first one’s is what the gateway printed at its first start.
          </p>
          <StartCommand acl={[]} />
        </>
      ),
    },
    {
      title: 'Visit it',
      isDone: (total?.requests ?? 0) + (total?.connections ?? 0) > 0,
      help: endpoint ? (
        <>
          <p>
            <a href={objectPath('endpoint', endpoint.id)}>{endpoint.publicUrl}</a> answers now.
          </p>
          <CodeBlock code={`curl ${endpoint.publicUrl}`} label="the command" />
        </>
      ) : (
        <p>As soon as an agent is connected, its public address is shown here.</p>
      ),
    },
    {
      title: 'Reserve a domain',
      isDone: count(reservedDomains) > 0,
      help: (
        <>
          <p>A reserved name is yours alone, also while nobody serves it.</p>
          <LinkButton href={pathTo('domains', 'new')}>Reserve a domain</LinkButton>
        </>
      ),
    },
    {
      title: 'Invite somebody, or have events sent to you',
      isDone: count(users) > 1 || count(eventDestinations) > 0,
      help: (
        <div class="actions">
          {viewer.value?.isAdmin && <LinkButton href={pathTo('access', 'users', 'new')}>Invite somebody</LinkButton>}
          <LinkButton href={pathTo('events', 'destinations', 'new')}>New event destination</LinkButton>
        </div>
      ),
    },
  ];
}

function count(list: { totalCount: number } | null | undefined): number {
  return list?.totalCount ?? 0;
}
