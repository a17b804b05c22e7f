import { useMemo } from 'preact/hooks';
import { now } from '../../data/clock.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { viewer } from '../../data/session/session.ts';
import { Overview, OverviewOnboarding, type OverviewOnboardingQuery } from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Counts } from './counts.tsx';
import { Figures } from './figures.tsx';
import { hasServed, isOnboarded, Onboarding } from './onboarding.tsx';
import { isDismissed } from './onboarding-dismissal.ts';
import { Problems } from './problems.tsx';
import { RecentChanges } from './recent-changes.tsx';
import { RunningCaptures } from './running-captures.tsx';

/** What changes without an event, as the state of deliveries and the share of errors. */
const POLL_MS = 10_000;
const KINDS = ['alert', 'endpoint', 'offlineEndpoint', 'agent', 'eventDestination', 'eventDelivery', 'trafficCapture'];
/** With many endpoints some always change, and to count them costs the gateway something. */
const TRIGGERS = { kinds: KINDS, pollMs: POLL_MS, minIntervalMs: 3000 };
const ONBOARDING_KINDS = ['credential', 'endpoint', 'offlineEndpoint', 'reservedDomain', 'eventDestination', 'user'];
/** How long visits are remembered at least. */
const REMEMBERED_MS = 29 * 86_400_000;

/** The first page: what is wrong, since when, and where to look; for a new account, its first steps. */
export function OverviewPage() {
  const onboarding = useOnboarding();
  const { data, error, refetch } = useQuery(Overview, {}, TRIGGERS);
  const isNew = onboarding && !hasServed(onboarding);
  return (
    <Page title="Overview" lead="What is wrong, since when, and where to look.">
      <ErrorNote error={error} retry={() => void refetch()} />
      {isNew && <Onboarding facts={onboarding} />}
      {!data && !error && <Skeleton lines={6} />}
      {data && !isNew && (
        <>
          <Counts overview={data} />
          <Problems overview={data} />
          {onboarding && <Onboarding facts={onboarding} />}
          <Figures />
          <RunningCaptures overview={data} />
          <RecentChanges overview={data} />
        </>
      )}
    </Page>
  );
}

/** What the first steps are made of; undefined when they are all done or put away. */
function useOnboarding(): OverviewOnboardingQuery | undefined {
  const user = viewer.value;
  const skip = !user || isDismissed(user.user.id);
  const from = useMemo(() => new Date(now.peek() - REMEMBERED_MS).toISOString(), []);
  const options = { ...TRIGGERS, kinds: ONBOARDING_KINDS, skip };
  const { data } = useQuery(OverviewOnboarding, { isAdmin: user?.isAdmin ?? false, from }, options);
  return skip || !data || isOnboarded(data) ? undefined : data;
}
