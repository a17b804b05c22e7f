// Whether an agent is online is no member that the API filters by: it has an argument of its own, and a parameter in the
// URL.

import { useLocation } from 'preact-iso/router';
import { listQuery } from '../../../data/routing/list-state.ts';

const STATES = { '': 'Online and offline', online: 'Online', offline: 'Offline' };

/** The `online` of the list; undefined chooses both. */
export function useOnline(): boolean | undefined {
  const { state } = useLocation().query;
  return state === 'online' ? true : state === 'offline' ? false : undefined;
}

/** Chooses agents that are online or offline. */
export function OnlineFilter() {
  const { path, query, route } = useLocation();
  const { state = '' } = query;
  return (
    <select
      aria-label="State"
      value={state}
      onChange={({ currentTarget: { value } }) => route(path + listQuery(query, { state: value }))}
    >
      {Object.entries(STATES).map(([value, title]) => (
        <option key={value} value={value} selected={value === state}>
          {title}
        </option>
      ))}
    </select>
  );
}
