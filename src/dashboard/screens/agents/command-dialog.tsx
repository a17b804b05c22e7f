// A command to one agent or to many, and what became of each.

import { useState } from 'preact/hooks';
import { type ApiFailure, toApiFailure } from '../../data/client/client.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { CommandAgents, type CommandAgentsMutation } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { type Column, Table } from '../../ui/table/table.tsx';

type Result = NonNullable<CommandAgentsMutation['commandAgents']>['results'][number];
type Command = 'RESTART' | 'STOP' | 'UPDATE';

const COMMANDS: { value: Command; title: string }[] = [
  { value: 'RESTART', title: 'Restart: start anew' },
  { value: 'STOP', title: 'Stop: end, and go offline' },
  { value: 'UPDATE', title: 'Update: change the version of the program' },
];

interface CommandDialogProps {
  /** Who is told: `12 agents (label site=berlin)`. */
  who: string;
  /** What has to be typed. */
  typeToConfirm: string;
  loadIds: () => Promise<string[]>;
  /** The commands that can be chosen; all when left out. */
  accepts?: readonly string[];
  onClose: () => void;
}

export function CommandDialog({ who, typeToConfirm, loadIds, accepts, onClose }: CommandDialogProps) {
  const options = COMMANDS.filter(({ value }) => accepts?.includes(value) ?? true);
  const tell = useMutation(CommandAgents);
  const { bind, values } = useFormFields({ command: options[0]?.value as string, toVersion: '' });
  const [results, setResults] = useState<readonly Result[]>();
  const [failure, setFailure] = useState<ApiFailure>();
  const { command, toVersion } = values;

  async function confirmed() {
    setFailure(undefined);
    try {
      const version = command === 'UPDATE' && toVersion.trim() ? { toVersion: toVersion.trim() } : {};
      const input = { ids: await loadIds(), command: command as Command, ...version };
      setResults((await tell.mutate({ input }))?.commandAgents?.results ?? undefined);
    } catch (error) {
      setFailure(toApiFailure(error));
    }
  }

  if (results) return <Results results={results} onClose={onClose} />;
  return (
    <ConfirmDialog
      title="Send a command?"
      typeToConfirm={typeToConfirm}
      confirmLabel="Send the command"
      error={failure ?? tell.error}
      isBusy={tell.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>It goes to {who}. Who is offline is not told later.</p>
      <SelectField {...bind('command')} label="What to do" options={options} />
      {command === 'UPDATE' && (
        <TextField {...bind('toVersion')} label="To version" help="Empty: the newest there is." />
      )}
    </ConfirmDialog>
  );
}

const OUTCOMES: Record<Result['outcome'], { title: string; variant: 'good' | 'warn' | 'bad' | 'plain' }> = {
  DONE: { title: 'agreed', variant: 'good' },
  REFUSED: { title: 'refused', variant: 'warn' },
  OFFLINE: { title: 'offline', variant: 'plain' },
  UNREACHABLE: { title: 'no answer', variant: 'bad' },
  FORBIDDEN: { title: 'not yours', variant: 'warn' },
  UNKNOWN: { title: 'forgotten meanwhile', variant: 'plain' },
};

const columns: Column<Result>[] = [
  {
    key: 'name',
    title: 'Agent',
    width: '1fr',
    cell: ({ agent, agentId }) => (agent ? <a href={objectPath('agent', agentId)}>{agent.name}</a> : agentId),
  },
  {
    key: 'outcome',
    title: 'What became of it',
    width: '8rem',
    cell: ({ outcome }) => <Tag variant={OUTCOMES[outcome].variant}>{OUTCOMES[outcome].title}</Tag>,
  },
  { key: 'reason', title: 'Why', width: '2fr', cell: ({ reason }) => reason ?? '' },
];

function Results({ results, onClose }: { results: readonly Result[]; onClose: () => void }) {
  const done = results.filter(({ outcome }) => outcome === 'DONE').length;
  return (
    <Dialog title={`${done} of ${results.length} agents agreed`} onClose={onClose} isWide>
      <Table
        label="What became of the command"
        columns={columns}
        rows={results}
        rowKey={({ agentId }) => agentId}
        cardLines={3}
      />
      <div class="form-footer">
        <Button variant="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
