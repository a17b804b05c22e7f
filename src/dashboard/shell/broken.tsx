import { Component, type ComponentChildren } from 'preact';
import { Button } from '../ui/button.tsx';

/** Keeps a mistake in one screen from emptying the whole page. */
export class Broken extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null as Error | null };

  override componentDidCatch(error: Error) {
    this.setState({ error });
  }

  render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div class="page">
        <h1>This screen failed</h1>
        <div class="note error" role="alert">
          <p>{error.message}</p>
        </div>
        <div>
          <Button look="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
        </div>
      </div>
    );
  }
}
