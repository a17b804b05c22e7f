import { useQuery } from '../data/hooks/use-query.ts';
import { FiringAlerts } from '../generated/operations.ts';

/** The number of alerts that fire, beside their entry of the navigation; nothing when none does. */
export function FiringAlertCount() {
  const { data } = useQuery(FiringAlerts, {}, { kinds: ['alert'] });
  const count = data?.openAlerts?.filter(({ state }) => state === 'FIRING').length ?? 0;
  if (count === 0) return null;
  return (
    <span class="navigation-count">
      {count}
      <span class="visually-hidden"> firing</span>
    </span>
  );
}
