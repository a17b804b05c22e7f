// Remote commands for an agent. The agent may refuse one, with a reason.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type MutationState, useMutation } from '../../data/hooks/use-mutation.ts';
import { RestartAgent, StopAgent, UpdateAgent } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { CheckField } from '../../ui/forms/choice-fields.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';

interface CommandProps {
  id: string;
  /** The text that confirms the command. */
  name: string;
  onClose: () => void;
}

type AgentCommand = 'restart' | 'update' | 'stop';

/** What an agent has said it will refuse. */
interface Refusals {
  refused: readonly { command: string; reason: string }[];
}

/** Buttons for the commands that the agent does not refuse. */
export function AgentCommands({ id, name, refused }: Omit<CommandProps, 'onClose'> & Refusals) {
  const [command, setCommand] = useState<AgentCommand>();
  const commandProps = { id, name, onClose: () => setCommand(undefined) };
  const isOffered = (name: AgentCommand) => !refused.some((refusal) => refusal.command === name);
  return (
    <>
      {isOffered('restart') && <Button onClick={() => setCommand('restart')}>Restart</Button>}
      {isOffered('update') && <Button onClick={() => setCommand('update')}>Update</Button>}
      {isOffered('stop') && (
        <Button variant="danger" onClick={() => setCommand('stop')}>
          Stop
        </Button>
      )}
      {command === 'restart' && <Restart {...commandProps} />}
      {command === 'update' && <Update {...commandProps} />}
      {command === 'stop' && <Stop {...commandProps} />}
    </>
  );
}

/** Says why a command is not offered. */
export function RefusedCommands({ refused }: Refusals) {
  if (refused.length === 0) return null;
  return (
    <p class="muted">
      {refused.map(({ command, reason }) => (
        <span key={command}>
          It takes no {command}: {reason}{' '}
        </span>
      ))}
    </p>
  );
}

function Restart(props: CommandProps) {
  const restart = useMutation(RestartAgent);
  return (
    <CommandDialog
      {...props}
      title="Restart this agent?"
      confirmLabel="Restart the agent"
      successMessage="The agent restarts."
      command={restart}
      send={() => restart.mutate({ id: props.id })}
    >
      <p>It ends and starts anew: what it serves doesn’t answer until it is back.</p>
    </CommandDialog>
  );
}

function Stop(props: CommandProps) {
  const stop = useMutation(StopAgent);
  return (
    <CommandDialog
      {...props}
      title="Stop this agent?"
      confirmLabel="Stop the agent"
      successMessage="The agent stops."
      command={stop}
      send={() => stop.mutate({ id: props.id })}
    >
      <p>Its program ends, and all that it serves goes offline. It can be started again only where it runs.</p>
    </CommandDialog>
  );
}

function Update(props: CommandProps) {
  const update = useMutation(UpdateAgent);
  const { bind, values } = useFormFields({ version: '', permitMajorVersion: false });
  const { version, permitMajorVersion } = values;
  const input = { permitMajorVersion, ...(version.trim() && { version: version.trim() }) };
  return (
    <CommandDialog
      {...props}
      title="Update this agent?"
      confirmLabel="Update the agent"
      successMessage="The agent updates itself."
      command={update}
      send={() => update.mutate({ id: props.id, input })}
    >
      <p>It replaces its program by another version and starts that.</p>
      <TextField {...bind('version')} label="Version" help="Empty: the newest there is." placeholder="newest" />
      <CheckField {...bind('permitMajorVersion')} label="Also to another major version" />
    </CommandDialog>
  );
}

interface CommandDialogProps<Result, Variables> extends CommandProps {
  title: string;
  confirmLabel: string;
  /** The toast after the agent has accepted the command. */
  successMessage: string;
  command: MutationState<Result, Variables>;
  send: () => Promise<Result | undefined>;
  children: ComponentChildren;
}

function CommandDialog<Result, Variables>(props: CommandDialogProps<Result, Variables>) {
  const { name, title, confirmLabel, successMessage, command, send, children, onClose } = props;
  async function confirmed() {
    if (!(await send())) return;
    toast(successMessage);
    onClose();
  }
  return (
    <ConfirmDialog
      title={title}
      typeToConfirm={name}
      confirmLabel={confirmLabel}
      error={command.error}
      isBusy={command.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      {children}
    </ConfirmDialog>
  );
}
