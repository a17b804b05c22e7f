// Commands to the selected agents.

import { useState } from 'preact/hooks';
import { execute } from '../../../data/client/client.ts';
import { FleetAgents, type FleetAgentsQueryVariables } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import type { SelectedRows } from '../../../ui/list/bulk/target.ts';
import { CommandDialog } from '../command-dialog.tsx';

/** The limit of the API, and that of a page. */
const AGENTS_MAX = 500;
const PAGE_SIZE = 100;

interface CommandSelectionProps {
  selected: SelectedRows;
  /** What leaves the agents that match, if all of them are selected. */
  variables: FleetAgentsQueryVariables;
}

export function CommandSelection({ selected: { count, ids, isEverything }, variables }: CommandSelectionProps) {
  const [isOpen, setOpen] = useState(false);
  const isTooMany = count > AGENTS_MAX;
  return (
    <>
      {isTooMany && (
        <span id="too-many" class="muted">
          At most {AGENTS_MAX} can be told at once.
        </span>
      )}
      <Button onClick={() => setOpen(true)} isDisabled={isTooMany} describedBy={isTooMany ? 'too-many' : undefined}>
        Send a command …
      </Button>
      {isOpen && (
        <CommandDialog
          who={`${count.toLocaleString('en')} ${count === 1 ? 'agent' : 'agents'}`}
          typeToConfirm={String(count)}
          loadIds={async () => (isEverything ? matchingIds(variables) : [...ids])}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** The ids of all agents that match. */
async function matchingIds(variables: FleetAgentsQueryVariables): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null | undefined;
  do {
    const page: Awaited<ReturnType<typeof fetchPage>> = await fetchPage(variables, after);
    ids.push(...(page?.nodes ?? []).map(({ id }) => id));
    after = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined;
  } while (after && ids.length < AGENTS_MAX);
  return ids.slice(0, AGENTS_MAX);
}

async function fetchPage(variables: FleetAgentsQueryVariables, after: string | null | undefined) {
  return (await execute(FleetAgents, { ...variables, first: PAGE_SIZE, after })).agents;
}
