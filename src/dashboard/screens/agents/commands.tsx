// What an agent can be told from afar. It may refuse, and says why.

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

interface OrderProps {
  id: string;
  /** What is typed to confirm. */
  name: string;
  onClose: () => void;
}

type Order = 'restart' | 'update' | 'stop';

export function Orders({ id, name }: Omit<OrderProps, 'onClose'>) {
  const [order, setOrder] = useState<Order>();
  const asked = { id, name, onClose: () => setOrder(undefined) };
  return (
    <>
      <Button onClick={() => setOrder('restart')}>Restart</Button>
      <Button onClick={() => setOrder('update')}>Update</Button>
      <Button variant="danger" onClick={() => setOrder('stop')}>
        Stop
      </Button>
      {order === 'restart' && <Restart {...asked} />}
      {order === 'update' && <Update {...asked} />}
      {order === 'stop' && <Stop {...asked} />}
    </>
  );
}

function Restart(props: OrderProps) {
  const restart = useMutation(RestartAgent);
  return (
    <Tell
      {...props}
      title="Restart this agent?"
      action="Restart the agent"
      told="The agent restarts."
      order={restart}
      send={() => restart.mutate({ id: props.id })}
    >
      <p>It ends and starts anew: what it serves doesn’t answer until it is back.</p>
    </Tell>
  );
}

function Stop(props: OrderProps) {
  const stop = useMutation(StopAgent);
  return (
    <Tell
      {...props}
      title="Stop this agent?"
      action="Stop the agent"
      told="The agent stops."
      order={stop}
      send={() => stop.mutate({ id: props.id })}
    >
      <p>Its program ends, and all that it serves goes offline. It can be started again only where it runs.</p>
    </Tell>
  );
}

function Update(props: OrderProps) {
  const update = useMutation(UpdateAgent);
  const { bind, values } = useFormFields({ version: '', permitMajorVersion: false });
  const { version, permitMajorVersion } = values;
  const input = { permitMajorVersion, ...(version.trim() && { version: version.trim() }) };
  return (
    <Tell
      {...props}
      title="Update this agent?"
      action="Update the agent"
      told="The agent updates itself."
      order={update}
      send={() => update.mutate({ id: props.id, input })}
    >
      <p>It replaces its program by another version and starts that.</p>
      <TextField {...bind('version')} label="Version" help="Empty: the newest there is." placeholder="newest" />
      <CheckField {...bind('permitMajorVersion')} label="Also to another major version" />
    </Tell>
  );
}

interface TellProps<Result, Variables> extends OrderProps {
  title: string;
  action: string;
  /** What is said when the agent has agreed. */
  told: string;
  order: MutationState<Result, Variables>;
  send: () => Promise<Result | undefined>;
  children: ComponentChildren;
}

function Tell<Result, Variables>(props: TellProps<Result, Variables>) {
  const { name, title, action, told, order, send, children, onClose } = props;
  async function confirmed() {
    if (!(await send())) return;
    toast(told);
    onClose();
  }
  return (
    <ConfirmDialog
      title={title}
      typeToConfirm={name}
      confirmLabel={action}
      error={order.error}
      isBusy={order.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      {children}
    </ConfirmDialog>
  );
}
