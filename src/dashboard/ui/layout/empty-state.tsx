import type { ComponentChildren } from 'preact';
import { CodeBlock } from '../text/code-block.tsx';

export interface EmptyStateProps {
  title: string;
  children?: ComponentChildren;
  /** The next command, to copy. */
  command?: string;
  /** The button that fills it. */
  action?: ComponentChildren;
}

/** What stands where nothing is yet: what would be here, and what to do next. */
export function EmptyState({ title, children, command, action }: EmptyStateProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <div class="empty-text">{children}</div>}
      {command && <CodeBlock code={command} label="the command" />}
      {action}
    </div>
  );
}
