// Alerts, their rules, channels and silences.

import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import './alerts.css';
import { ChannelList } from './channels/channel-list.tsx';
import { ChannelPage, EditChannel, NewChannel } from './channels/channel-pages.tsx';
import { AlertList } from './now/alert-list.tsx';
import { AlertPage } from './now/alert-page.tsx';
import { RuleList } from './rules/rule-list.tsx';
import { EditRule, NewRule, RulePage } from './rules/rule-pages.tsx';
import { SilenceList } from './silences/silence-list.tsx';
import { NewSilence, SilencePage } from './silences/silence-pages.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={AlertList} />
      <Route path="/rules" component={RuleList} />
      <Route path="/rules/new" component={NewRule} />
      <Route path="/rules/:id" component={RulePage} />
      <Route path="/rules/:id/edit" component={EditRule} />
      <Route path="/channels" component={ChannelList} />
      <Route path="/channels/new" component={NewChannel} />
      <Route path="/channels/:id" component={ChannelPage} />
      <Route path="/channels/:id/edit" component={EditChannel} />
      <Route path="/silences" component={SilenceList} />
      <Route path="/silences/new" component={NewSilence} />
      <Route path="/silences/:id" component={SilencePage} />
      <Route path="/:id" component={AlertPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
